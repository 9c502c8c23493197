"""The format of Sprig's lit tests: shell tests that have a home and a cache of their own."""
import glob
import os
import re

import lit.formats
import lit.Test


class OwnHome(lit.formats.ShTest):
    """Shell tests whose results depend neither on who runs them nor on their order.

    No user's file is read or filled. Programs are compiled for the machine as it was measured, where it was: tests that
    measure it keep that in a folder of theirs, where no other test finds it.
    """

    MEASURES = re.compile(r"(sprig|--) (bench|profile)\b|[(\[]['\"](bench|profile)['\"],|devices --calibrate\b")
    SCRIPT = re.compile(r"%(S|bench)/([\w/]+\.py)")

    def __init__(self, exec_root, **options):
        super().__init__(**options)
        # What an earlier run of other tests may have measured.
        for kept in glob.glob(os.path.join(glob.escape(exec_root), "cache", "machine-*.json")):
            os.remove(kept)

    @classmethod
    def measures(cls, path, source):
        """Whether a test, or a script that it runs, measures the machine."""
        folders = {"S": os.path.dirname(path), "bench": os.path.join(source, "bench")}
        with open(path, errors="replace") as file:
            text = file.read()
        for folder, script in cls.SCRIPT.findall(text):
            with open(os.path.join(folders[folder], script)) as file:
                text += file.read()
        return bool(cls.MEASURES.search(text))

    def execute(self, test, lit_config):
        root = test.config.test_exec_root
        measures = self.measures(test.getSourcePath(), test.config.sprig_source)
        cache = os.path.join(root, "measured" if measures else "cache")
        home = os.path.join(root, "home")
        os.makedirs(home, exist_ok=True)
        test.config.environment.update(HOME=home, XDG_CACHE_HOME=os.path.join(home, ".cache"), SPRIG_CACHE=cache)
        result = super().execute(test, lit_config)
        kept = [] if measures else glob.glob(os.path.join(glob.escape(cache), "machine-*.json"))
        if kept:
            return lit.Test.Result(lit.Test.FAIL, f"{kept[0]}: this test, or one beside it, measured the machine, and others "
                                   "find that now: remove the file, and let OwnHome.MEASURES know the test")
        return result
