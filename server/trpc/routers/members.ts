import { listMembers, me, removeMember, updateMember } from '#server/auth/members/index.ts';
import { mutation, plainQuery, router } from '../trpc.ts';

export const membersRouter = router({
  me: plainQuery(me),
  list: plainQuery(listMembers),
  update: mutation(updateMember),
  remove: mutation(removeMember),
});
