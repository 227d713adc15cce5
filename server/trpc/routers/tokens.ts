import { createToken, listTokens, revokeToken } from '#server/auth/tokens/index.ts';
import { mutation, plainQuery, router } from '../trpc.ts';

export const tokensRouter = router({
  list: plainQuery(listTokens),
  create: mutation(createToken),
  revoke: mutation(revokeToken),
});
