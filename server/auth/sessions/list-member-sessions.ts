import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { PersonContext } from '../person.ts';
import { type ListMemberSessionsInput, listMemberSessionsInput } from './input.ts';
import { browsersOf, type SignedInBrowser } from './signed-in-browser.ts';

/** Lists the valid sessions of a member. Throws `member_unknown`. */
export async function listMemberSessions(
  ctx: PersonContext,
  input: ListMemberSessionsInput,
): Promise<{ items: SignedInBrowser[] }> {
  allow(ctx.actor, 'admin');
  const { memberId } = parse(listMemberSessionsInput, input);
  const [member] = await ctx.db.select({ id: users.id }).from(users).where(eq(users.id, memberId));
  if (!member) throw new DomainError('not_found', 'member_unknown');
  return { items: await browsersOf(ctx.db, memberId, ctx.now, (await ctx.session())?.id ?? null) };
}
