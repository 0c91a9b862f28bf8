"""vLLM itself, its CPU build, in an environment of its own: `make test-vllm`."""
