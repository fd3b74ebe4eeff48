"""A scripted model that keeps what it is asked."""

from workbook.runtime.script import Script


class Asked(Script):
    """A script that keeps its requests, and their prompts as text."""

    def __init__(self, turns):
        super().__init__(turns)
        self.requests, self.prompts = [], []

    def respond(self, request):
        self.requests.append(request)
        self.prompts.append(request.text)
        return super().respond(request)
