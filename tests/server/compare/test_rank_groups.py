"""Groups of ranks up to the first part that differs."""

from __future__ import annotations

import pytest
from fullgraph_server.compare.rank_groups import RankGroups, by_signature, groups
from fullgraph_server.compare.rank_words import group_words, rank_words, rest_words


@pytest.mark.parametrize(
    ("values", "behind", "found"),
    [
        (["ab", "ab", "ab"], {}, []),
        (["ab", "ac", "ab"], {}, [RankGroups(1, ((0, 2), (1,)))]),
        (["ab", "a", "ab"], {}, [RankGroups(1, ((0, 2), (1,)))]),
        (["ab", "a", "ab"], {1}, []),
        (["ab", "", "ab"], {1}, []),
        (["ab", "abc", "ab"], {1}, [RankGroups(2, ((0, 2), (1,)))]),
        (["ab", "b", "ab"], {1}, [RankGroups(0, ((0, 2), (1,)))]),
        (["a", "abc", "ab", "x"], {0, 1, 2, 3}, [RankGroups(0, ((0, 1, 2), (3,)))]),
        (["ab", "ac", "xb", "ab"], {}, [RankGroups(0, ((0, 1, 3), (2,))), RankGroups(1, ((0, 3), (1,)))]),
        (["ab", "ab", "ac", "ac", "ac", "ad"], {}, [RankGroups(1, ((2, 3, 4), (0, 1), (5,)))]),
        (["ab", "a", "ac"], {1}, [RankGroups(1, ((0,), (2,)))]),
    ],
)
def test_the_groups_at_the_first_difference(
    values: list[str], behind: set[int], found: list[RankGroups]
) -> None:
    given = {rank: tuple(items) for rank, items in enumerate(values)}
    assert [*groups(given, frozenset(behind))] == found


def test_a_smaller_number_of_a_rank_that_is_behind_is_no_difference() -> None:
    assert not [*groups({0: (3,), 1: (2,), 2: (3,)}, {1}, counts=True)]
    assert [*groups({0: (3,), 1: (4,), 2: (3,)}, {1}, counts=True)] == [RankGroups(0, ((0, 2), (1,)))]
    assert [*groups({0: (3,), 1: (2,), 2: (3,)}, frozenset(), counts=True)] == [RankGroups(0, ((0, 2), (1,)))]


def test_of_many_places_the_first_are_told_and_all_ranks_are_counted() -> None:
    values = {rank: (*range(rank), "x", *range(rank, 20)) for rank in range(10)}
    found = [*groups(values, frozenset())]
    assert [item.different for item in found] == [(0,), (1,), (2,)]
    assert sorted(rank for ranks in found[-1].later for rank in ranks) == [*range(3, 9)]
    assert len({*by_signature(found, range(10)).values()}) == 10


def test_groups_are_numbered_from_the_largest() -> None:
    found = [RankGroups(0, ((0, 2, 3, 4), (1,))), RankGroups(1, ((0, 4), (2, 3)))]
    assert by_signature(found, range(5)) == {0: 0, 4: 0, 2: 1, 3: 1, 1: 2}


def test_words_of_many_ranks_are_short() -> None:
    assert rank_words(range(0, 1024, 2)) == "512 ranks (0, 2, 4, ...)"
    assert rank_words([0, 2, 4, 6, 8, 10]) == "ranks 0, 2, 4, 6, 8 and 10"
    parts = [(f"does {number}", [number]) for number in range(9)]
    assert group_words(parts)[2:] == ["does 2 on rank 2", "in other ways on 6 more ranks"]
    assert group_words(parts[:4])[3] == "in other ways on 1 more rank"
    assert rest_words(range(1, 1024), 1024, 1) == "the 1,023 others"
    assert rest_words(range(2, 1024), 1024, 1) == "ranks 2-1023", "nothing is known of a rank"
