"""`python -m commonplace` is `commonplace`."""

import sys

from commonplace.cli.main import main

sys.exit(main())
