# A host and two null devices as the runtime's clock has them, with links of different figures: null_board.py [CHANGE]
import json
import sys

null = {"flops": "100GFLOP/s", "bandwidth": "20GB/s", "launch": "100ns", "threads": 16}
board = {
    "name": "board",
    "devices": [{"name": "cpu:0", "rates": "native", "host_memory": True}, {"name": "null:0", **null}, {"name": "null:1", **null}],
    "links": [
        {"between": ["null:0", "null:1"], "latency": "5us", "rate": "0.25GB/s", "count": 4},
        {"between": ["cpu:0", "null:0"], "latency": "7us", "rate": "16Gbit/s"},
        {"between": ["cpu:0", "null:1"], "latency": "4us", "rate": "1GB/s", "length": "1km"},
    ],
    "inputs": "cpu:0",
    "outputs": "cpu:0",
}
change = sys.argv[1] if len(sys.argv) > 1 else ""
if change == "switch":  # for all
    board["switches"] = [{"name": "hub"}]
    board["links"] = [{**board["links"][0], "between": [node, "hub"]} for node in ("cpu:0", "null:0", "null:1")]
elif change == "half":
    board["links"][0]["duplex"] = "half"
elif change == "disk":
    board["storage"] = [{"name": "disk:0", "iops": 1000, "read": "1GB/s", "write": "1GB/s"}]
    board["links"].append({"between": ["cpu:0", "disk:0"], "latency": "0s", "rate": "1GB/s"})
    board["inputs"] = "disk:0"
elif change == "nowhere":
    del board["inputs"]
print(json.dumps(board))
