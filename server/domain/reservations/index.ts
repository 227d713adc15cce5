export { groupSql, outOfServiceSql } from './groups.ts';
export { release, releaseUnless } from './release.ts';
export { type Holder, handOver, reserve } from './reserve.ts';
