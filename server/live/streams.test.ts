import { expect, test } from 'vitest';
import { openStreams } from './index.ts';

const codeOf = (open: () => unknown): unknown => {
  try {
    open();
    return 'opened';
  } catch (error) {
    const { kind, code, retryAfter } = error as { kind?: string; code?: string; retryAfter?: number };
    return [kind, code, retryAfter];
  }
};

test('streams are limited per session, per member and in total; rejected streams do not count', () => {
  const streams = openStreams({ perSession: 2, perMember: 3, perProcess: 4 });
  streams.open('s1', 'ada');
  streams.open('s1', 'ada');
  expect(codeOf(() => streams.open('s1', 'ada'))).toEqual(['rate_limited', 'session_streams_exceeded', 15]);
  streams.open('s2', 'ada');
  expect(codeOf(() => streams.open('s2', 'ada'))).toEqual(['rate_limited', 'member_streams_exceeded', 15]);
  streams.open('s3', 'bob');
  expect(codeOf(() => streams.open('s3', 'bob'))).toEqual(['unavailable', 'streams_exceeded', 15]);
  expect(streams.held()).toEqual({ streams: 4, sessions: 3, members: 2 });
});

test('closing a stream twice frees only one slot, and no data is kept without streams', () => {
  const streams = openStreams({ perSession: 2, perMember: 9, perProcess: 9 });
  const [first, second] = [streams.open('s1', 'ada'), streams.open('s1', 'ada')];
  first();
  first();
  streams.open('s1', 'ada');
  expect(codeOf(() => streams.open('s1', 'ada'))).toMatchObject({ 1: 'session_streams_exceeded' });
  second();
  expect(streams.held()).toEqual({ streams: 1, sessions: 1, members: 1 });
  const other = openStreams({ perSession: 2, perMember: 9, perProcess: 9 });
  other.open('s1', 'ada')();
  expect(other.held()).toEqual({ streams: 0, sessions: 0, members: 0 });
});
