import sys

from tests.benchmarks.harness import main

sys.exit(main())
