import { z } from 'zod';
import { updateMember, updateMemberInput } from '#server/auth/members/index.ts';
import { type RestRoute, route } from '../route.ts';

export const memberRoutes: readonly RestRoute[] = [
  route({
    method: 'PATCH',
    path: '/members/{id}',
    operationId: 'updateMember',
    summary: 'Changes the name, role, namespaces or the grant `scripts` of a member. Only the given fields change.',
    role: 'admin',
    params: z.object({ id: z.string().min(1).max(64) }),
    body: updateMemberInput.omit({ id: true }),
    answers: { 204: { meaning: 'The member has the new rights.' } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => {
      await updateMember(ctx, { ...params, ...body });
      return { status: 204 };
    },
  }),
];
