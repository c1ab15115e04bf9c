select figure, provider, amount from largesse.delivery_figures()
