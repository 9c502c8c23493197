"""What ctags finds in C++ files, for the scripts that check names."""
import json
import subprocess


def tags_of(files, kinds, root):
    """The tags of files below the folder `root`, each a dictionary with name, path, line, kind, scope and scopeKind."""
    text = subprocess.run(['ctags', '--output-format=json', f'--kinds-C++={kinds}', '--fields=+n{scope}{scopeKind}', '-f', '-', *files],
                          cwd=root, check=True, capture_output=True, text=True).stdout
    return map(json.loads, text.splitlines())
