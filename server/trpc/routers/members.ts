import { listMembers, me, removeMember, updateMember } from '#server/auth/members/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const membersRouter = router({
  me: query(me),
  list: query(listMembers),
  update: mutation(updateMember),
  remove: mutation(removeMember),
});
