"""Words that names and contents of the domain `files` are made of, and who may draw which."""

from typing import Literal

Share = Literal["training", "tuning", "evaluation"]

# None stands within another: a search for one finds no other.
WORDS = (
    "acid acorn actor agate alarm alder almond amber anchor angel ankle apple apron arrow atlas autumn awning bacon badge "
    "bagel baker ball bamboo banjo barley basil basket beach beacon beard bell bench berry bike birch bird bishop blaze "
    "bloom board bolt bone boot bottle bowl brass bread brick bridge brook broom brush bucket butter button cabin cable "
    "cactus cake camel camp canal candle cannon canoe canvas carbon carpet carrot castle cedar cellar chain chair chalk "
    "cheese cherry chess chief child cider cinema circus citrus clay cliff cloak clock cloud clover coach coal coast "
    "cobra cocoa coffee comet copper coral cork cotton cradle crane crayon cream crown cube curry dagger dairy daisy "
    "dance dawn desert desk dinner doctor donkey donut door dough dragon dream drum duck dune eagle easel ebony elbow "
    "elder ember engine fabric falcon farm fence fern ferry fiddle field fig finch finger flag flame flask flint flood "
    "flour flower flute foam fog forest forge fork fort fossil fox frame frog frost fruit fudge galaxy garage garden "
    "garlic gecko ghost giant ginger glass glove goat gold goose gown grain grape grass gravel guitar gull hammer harbor "
    "harp hawk hazel hedge helmet hero hill hinge hobby honey hood hook horse hotel house husk igloo indigo ink iris iron "
    "island ivory ivy jacket jade jaguar jam jar jelly jewel judge juice jungle kayak kettle king kite kitten koala "
    "ladder lagoon lake lamp larch lasso latch laurel lava lawn lemon lever lily lime linen lion lizard llama locket "
    "lotus lumber lunch magnet maize mango maple marble market meadow medal melon mesa mill mint mirror mist mitten mole "
    "monk moon moss motor mouse mud mule mural museum myrtle napkin nectar needle nest nickel night noodle north novel "
    "nurse oasis ocean olive onion opal orange orbit orchid otter oven oxen oyster paddle paint palace palm panda paper "
    "parrot pasta peach peanut pearl pebble pecan pepper petal piano pickle pigeon pillow pine pirate pizza planet plaza "
    "plum pocket poet pony poppy port pot prince prune puffin pump puppy purse puzzle quail quartz queen quilt rabbit "
    "radar radio raft ranch raven reef ribbon river road robe robin rocket roof rope rose ruby rug rye saddle sage sailor "
    "salad salmon salt sand satin sauce scarf school scout seal sheep shell shirt shoe shore silk silver siren sketch "
    "skirt slate sled sleet smoke snail snow soap sofa soup spark spice spider spoon spring spruce squid stable stamp "
    "star statue steam steel stone storm stove straw stream sugar summer sunset swan syrup tango tavern teak temple tent "
    "thorn throne thumb tiger timber toast tomato topaz torch towel tower toy train tray treaty truck tulip tunnel turban "
    "turkey turtle uncle valley vase veil velvet vine violet violin wagon walnut walrus water wave wax whale wheat wheel "
    "willow window wing winter wizard wolf wood wool wreath yacht yarn yogurt zebra zinc"
).split()

_TURNS = ("training", "training", "tuning", "evaluation")


def words_of(share: Share) -> list[str]:
    """Half of the words for training, a quarter each for tuning and evaluation; no word is in two."""
    return [word for place, word in enumerate(WORDS) if _TURNS[place % len(_TURNS)] == share]
