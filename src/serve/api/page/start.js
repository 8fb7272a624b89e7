// Begins once all parts of the page are declared.
begin();
