"""One module a bench: ``python build.py bench NAME`` runs its ``main(root)`` and judges the figures it gives back."""
