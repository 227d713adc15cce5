import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMember } from '#server/auth/members/add-member.ts';
import { listMembers } from '#server/auth/members/index.ts';
import { testBootstrap, testContext } from '#server/testing/context.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

test('an admin’s token gives a member the grant `scripts` and takes it back', async () => {
  const ctx = await testContext({ services: door.services, actor: testBootstrap });
  const member = {
    name: 'Olga',
    email: 'olga@example.org',
    passwordHash: null,
    role: 'operator',
    namespaces: [],
  } as const;
  const { id } = await ctx.db.transaction((tx) => addMember(tx, ctx, member));
  const rights = async () => (await listMembers(ctx)).items.find((one) => one.id === id);
  await door.expect('updateMember', { id }, 204, { body: { scripts: true } });
  expect(await rights()).toMatchObject({ name: 'Olga', role: 'operator', scripts: true });
  await door.expect('updateMember', { id }, 204, { body: { scripts: false } });
  expect(await rights()).toMatchObject({ scripts: false });
  await door.expect('updateMember', { id }, [403, 'forbidden'], { body: { scripts: true }, as: 'operator' });
  await door.expect('updateMember', { id }, [422, 'invalid'], { body: { scripts: 'yes' } });
  await door.expect('updateMember', { id: 'nobody' }, [404, 'member_unknown'], { body: {} });
});
