"""Runs a command with a free port as MASTER_PORT: with_port.py COMMAND..."""
import os
import socket
import sys

with socket.socket() as free:
    free.bind(('127.0.0.1', 0))
    os.environ['MASTER_PORT'] = str(free.getsockname()[1])
os.execvp(sys.argv[1], sys.argv[1:])
