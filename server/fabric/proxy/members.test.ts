import { expect, test } from 'vitest';
import { Members } from './members.ts';

const member = (vmId: string) => ({ vmId, address: '10.0.0.1', localPort: 80 });

function balanced(...names: string[]) {
  let clock = 1;
  const members = new Members(() => clock);
  members.replace(names.map(member));
  const order = () => members.inOrder().map(({ vmId }) => vmId);
  const begin = () => {
    const [first] = members.inOrder();
    if (first === undefined) throw new Error('there is no member');
    members.begin(first);
    return first;
  };
  const pass = (ms: number) => {
    clock += ms;
  };
  return { members, order, begin, pass };
}

test('equals are chosen in turn', () => {
  const { members, begin } = balanced('a', 'b', 'c');
  const chosen = Array.from({ length: 7 }, () => {
    const one = begin();
    members.end(one);
    return one.vmId;
  });
  expect(chosen.join('')).toBe('abcabca');
});

test('the one with the fewest open connections is first', () => {
  const { members, order, begin } = balanced('a', 'b', 'c');
  const open = [begin(), begin(), begin(), begin()];
  expect(order()[0]).toBe('b');
  const [first] = open;
  if (first !== undefined) for (let count = 0; count < 2; count += 1) members.end(first);
  expect(order()[0]).toBe('a');
});

test('a member that was skipped is last until the time is over', () => {
  const { members, order, begin, pass } = balanced('a', 'b');
  const one = begin();
  members.passOver(one, 100);
  for (let count = 0; count < 5; count += 1) begin();
  expect(order()).toEqual(['b', 'a']);
  pass(100);
  expect(order()).toEqual(['a', 'b']);
});

test('members that stay keep their connections and their time, and new ones begin without', () => {
  const { members, order, begin } = balanced('a', 'b');
  const one = begin();
  begin();
  members.passOver(one, 1_000);
  members.replace([member('c'), member('a')]);
  expect(order()).toEqual(['c', 'a']);
  members.end(one);
  members.replace([{ ...member('a'), localPort: 81 }]);
  expect(members.inOrder()).toMatchObject([{ open: 0, passedOverUntil: 0 }]);
});

test('there is no order without members', () => {
  const { members, order } = balanced('a');
  members.replace([]);
  expect(order()).toEqual([]);
});

test('over random histories, no two members that work differ by more than one connection', () => {
  const { begin } = balanced('a', 'b', 'c', 'd');
  const open = new Map<string, number>();
  for (let count = 0; count < 1_001; count += 1) {
    const { vmId } = begin();
    open.set(vmId, (open.get(vmId) ?? 0) + 1);
    const counts = ['a', 'b', 'c', 'd'].map((name) => open.get(name) ?? 0);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  }
});
