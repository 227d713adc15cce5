import { resetFactors } from '#server/auth/factors/index.ts';
import { listMembers, me, removeMember, updateMember } from '#server/auth/members/index.ts';
import { endMemberSessions, listMemberSessions } from '#server/auth/sessions/index.ts';
import { mutation, plainQuery, query, router } from '../trpc.ts';

export const membersRouter = router({
  me: plainQuery(me),
  list: plainQuery(listMembers),
  resetFactors: mutation(resetFactors),
  sessions: query(listMemberSessions),
  endSessions: mutation(endMemberSessions),
  update: mutation(updateMember),
  remove: mutation(removeMember),
});
