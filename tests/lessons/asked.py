"""A scripted model that keeps what it is asked."""

from workbook.runtime.script import Script


class Asked(Script):
    """A script whose `requests` can be read."""

    def __init__(self, turns, **options):
        super().__init__(turns, **options)
        self.requests = []

    def respond(self, request):
        self.requests.append(request)
        return super().respond(request)

    @property
    def prompts(self):
        """The prompts, as text."""
        return [request.text for request in self.requests]
