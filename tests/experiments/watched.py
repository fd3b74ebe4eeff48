"""A scripted model that keeps what it was asked."""

from workbook.runtime.script import Script


class Watched(Script):
    """A script with the prompts of all its runs, in order."""

    def __init__(self, turns, **options):
        super().__init__(turns, **options)
        self.prompts = []

    def respond(self, request):
        self.prompts.append(request.text)
        return super().respond(request)
