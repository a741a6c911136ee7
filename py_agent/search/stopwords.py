"""Words that carry no content. They are dropped from queries only, never from the index, and never all of them."""

from __future__ import annotations

_ENGLISH = """
a about all also am an and any are aren as at be been being both but by can cannot could couldn did didn do does
doesn doing don down each either else ever every few for from further get gets getting got had hadn has hasn have
haven having he her here hers him his how i if in into is isn it its itself just let like ll may me might mine more
most much must my myself need neither nor not now of off on one only onto or other our ours out over own please
quite rather re really same shall she should shouldn so some such than that the their theirs them then there these
they this those through to too under until up upon us ve very via want wants was wasn we well were weren what
whatever when whenever where wherever whether which while who whom whose why will with within without won would
wouldn yet you your yours yourself
"""
# Words of other languages that are no English content word: a question in German about English docs keeps its
# technical words and loses these.
_OTHERS = """
aber auf aus bei bin bis das dass dem den der des dies diese diesem diesen dieser dieses ein eine einem einen einer
eines er es fuer für haben hat ich ihr ihre im ist kann kannst koennen können mein meine mich mir mit nach nicht
noch nur oder sich sie sind soll ueber über um und uns von vom vor wann warum welche welchem welchen welcher welches
wenn werden wie wird wir wo wozu zu zum zur au aux avec ce cela ces cet cette comment dans de des du elle elles en
est et il ils je la le les leur leurs lui mais mes mon ne nous ont ou où par pas peut plus pour pourquoi quand que
quel quelle quelles quels qui quoi sans sa ses son sont sur ta tes tu un une vers vos votre vous al algo como con
cual cuales cuando cuál cuáles cómo del donde dónde el ella ellas ellos entre esa ese eso esta este esto hay las lo
los mi mis muy nos o para pero por porque qué se ser si sin sobre su sus también te tiene una unas uno unos y ya ao
aos às com da das do dos ela eles em essa esse isso isto já mais mas meu minha na nas não no nos num numa os ou pela
pelas pelo pelos quais qual quando sem seu sua são também tem uma umas uns você che chi ci come cosa dei della delle
degli di gli ho le loro nei nel nella non per perché più quale quali quando sono suo tra un'
"""

#: Every stop word in lower case, with its accents: compare the word as it was written. Every index ships them.
STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_OTHERS.split())
