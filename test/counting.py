"""What tests in Python count with: `expect` for each property, `finish` at the end."""
import sys

passed = failed = 0


def expect(what, right):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print(f'FAIL {what}'[:600], flush=True)


def finish():
    """Prints `N passed, N failed` and ends the program: exit code 1 where something failed."""
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)
