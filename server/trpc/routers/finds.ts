import { findThings } from '#server/domain/views/find-things.ts';
import { query, router } from '../trpc.ts';

export const findsRouter = router({ things: query(findThings) });
