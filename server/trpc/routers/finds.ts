import { findByName } from '#server/domain/views/search.ts';
import { query, router } from '../trpc.ts';

export const findsRouter = router({ things: query(findByName) });
