import { createToken, listTokens, revokeToken } from '#server/auth/tokens/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const tokensRouter = router({
  list: query(listTokens),
  create: mutation(createToken),
  revoke: mutation(revokeToken),
});
