from hbench.cli import main

main()
