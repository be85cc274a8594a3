"""Writer of the JSON Schemas of what ``--format json`` writes: ``docs/schemas``.

Run ``python scripts/json_schema.py`` after a change of a shape (``fullgraph_server.shapes``). A test compares
them, and holds what commands write against them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from fullgraph_server.analyses.speed import SPEED, UNMEASURED
from fullgraph_server.analyses.times import TIMES
from fullgraph_server.cli.explain import SHAPE as EXPLAIN
from fullgraph_server.cli.formats.fixes import SHAPE as FIX
from fullgraph_server.cli.formats.sizes import SHAPE as SIZES
from fullgraph_server.shapes.report import REPORT
from fullgraph_server.shapes.shape import JsonKey, JsonShape, replaced
from pydantic import BaseModel, RootModel, create_model
from pydantic.json_schema import GenerateJsonSchema

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
FILES: Mapping[str, tuple[JsonShape, ...]] = {
    "report": (REPORT,),
    "times": (TIMES,),
    "speed": (SPEED, UNMEASURED),
    "fix": (FIX,),
    "sizes": (SIZES,),
    "explain": (EXPLAIN,),
}
"""The objects that each schema describes."""


def schemas() -> dict[Path, str]:
    """Return the text of each schema."""
    return {FOLDER / f"{name}.json": _schema(name, shapes) for name, shapes in FILES.items()}


def _schema(name: str, shapes: tuple[JsonShape, ...]) -> str:
    models = _Models()
    kinds = [models.model(shape) for shape in shapes]
    described: type[BaseModel] = RootModel[reduce(or_, kinds)] if kinds[1:] else kinds[0]  # type: ignore[misc]
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"fullgraph {name}"}
    return json.dumps({**described.model_json_schema(schema_generator=_Untitled), **title}, indent=2) + "\n"


class _Untitled(GenerateJsonSchema):
    """Leave out the titles of keys, which only say the keys again."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


class _Models:
    """The pydantic models of shapes: one model for each shape, with a unique name."""

    def __init__(self) -> None:
        self._models: dict[JsonShape, type[BaseModel]] = {}

    def model(self, shape: JsonShape) -> type[BaseModel]:
        if shape not in self._models:
            keys: dict[str, Any] = {key.name: (self._type(shape, key), ...) for key in shape.keys}
            taken = [model.__name__ for model in self._models.values()]
            number = sum(name.startswith(shape.of.__name__) for name in taken)
            self._models[shape] = create_model(
                shape.of.__name__ + str(number or ""),
                **keys,
            )
        return self._models[shape]

    def _type(self, shape: JsonShape, key: JsonKey) -> Any:
        def model_of(of: Any) -> Any:
            return self.model(key.shape) if key.shape is not None and of is key.shape.of else of

        return replaced(shape.annotation(key), model_of)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
