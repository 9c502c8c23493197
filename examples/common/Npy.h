// Reads the .npy files of the examples: version 1, row-major, little-endian, of the element type asked for. For the
// examples only, so that they need nothing but the standard library; a broken file throws std::runtime_error.
#pragma once
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

template <typename T> struct Npy {
  std::vector<int64_t> shape;
  std::vector<T> data;
};

// type: "<f4" for float, "<i8" for int64_t.
template <typename T> Npy<T> readNpy(const std::string &path, const std::string &type) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  char preamble[10];
  if (!file.read(preamble, sizeof preamble) || std::memcmp(preamble, "\x93NUMPY\x01", 7) != 0)
    throw std::runtime_error(path + ": is no .npy file of version 1");
  std::string header(uint8_t(preamble[8]) + 256 * uint8_t(preamble[9]), ' ');
  file.read(header.data(), std::streamsize(header.size()));
  if (header.find("'descr': '" + type + "'") == std::string::npos)
    throw std::runtime_error(path + ": expected elements of type " + type + ", the header is " + header);
  if (header.find("'fortran_order': False") == std::string::npos) throw std::runtime_error(path + ": is not row-major");
  Npy<T> result;
  size_t count = 1;
  size_t at = header.find('(', header.find("'shape'"));
  for (size_t end = header.find(')', at);
       at != std::string::npos && (at = header.find_first_of("0123456789", at)) < end;
       at = header.find_first_of(",)", at)) {
    result.shape.push_back(std::stoll(header.substr(at)));
    count *= size_t(result.shape.back());
  }
  result.data.resize(count);
  if (!file.read(reinterpret_cast<char *>(result.data.data()), std::streamsize(count * sizeof(T))))
    throw std::runtime_error(path + ": ends before its " + std::to_string(count) + " elements");
  return result;
}

} // namespace example
