import { z } from 'zod';
import {
  apiToken,
  createToken,
  createTokenInput,
  listTokens,
  revokeToken,
  tokenList,
} from '#server/auth/tokens/index.ts';
import { type RestRoute, route } from '../route.ts';

export const tokenRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/tokens',
    operationId: 'createToken',
    summary: 'Creates an API token with a role. For the role publisher, set its namespaces.',
    role: 'admin',
    body: createTokenInput.extend({ expiresAt: z.iso.datetime({ offset: true }).nullish() }),
    answers: {
      201: {
        meaning: 'The token, shown only once.',
        schema: apiToken.pick({ id: true, name: true, role: true }).extend({ token: z.string() }),
      },
    },
    refusals: [],
    run: async (ctx, { body }) => {
      const { id, value } = await createToken(ctx, body);
      return { status: 201, body: { id, name: body.name, role: body.role, token: value } };
    },
  }),
  route({
    method: 'GET',
    path: '/tokens',
    operationId: 'listTokens',
    summary: 'Lists all API tokens without their values, including revoked ones, newest first.',
    role: 'admin',
    answers: {
      200: { meaning: 'The tokens.', schema: tokenList.extend({ nextCursor: z.null() }) },
    },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: { ...(await listTokens(ctx)), nextCursor: null } }),
  }),
  route({
    method: 'DELETE',
    path: '/tokens/{token}',
    operationId: 'revokeToken',
    summary: 'Revokes a token immediately.',
    role: 'admin',
    params: z.object({ token: z.uuid() }),
    answers: { 204: { meaning: 'The token was revoked.' } },
    refusals: [404],
    run: async (ctx, { params }) => {
      await revokeToken(ctx, { id: params.token });
      return { status: 204 };
    },
  }),
];
