"""Operations that rows cover: recorded first, computed in batches when asked for."""
