"""Serves one chat model on this machine, over the API that most services speak, until standard input ends.

Prints its address once it listens. Standard input is the leash: however the process that holds its other
end ends, this one ends with it.
"""

import argparse
import os
import sys

import xllamacpp

CONTEXT_TOKENS = 8192
LOG_ERRORS = 1

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True, help="a GGUF file")
parser.add_argument("--name", required=True, help="what requests and replies call the model")
parser.add_argument("--port", type=int, default=0)
# Threads wait for each other by spinning: on a machine that is not idle more than one are slower.
parser.add_argument("--threads", type=int, default=1)
options = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = options.model
params.model_alias = {options.name}
params.port = options.port
params.cpuparams.n_threads = options.threads
params.cpuparams_batch.n_threads = options.threads
params.n_ctx = CONTEXT_TOKENS
params.offline = True
params.ui = False
params.verbosity = LOG_ERRORS
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
# An orderly end would wait for the reply that is being written.
os._exit(0)
