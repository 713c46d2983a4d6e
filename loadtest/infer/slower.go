package infer

// slower looks for a layer with a longer window behind the fast one.
func (s *search) slower(result *Result) {}
