export type { AttentionGroup } from './describe-problems.ts';
export { type Attention, attention, countAttention, listAttention } from './list-attention.ts';
export { listAttentionVms } from './list-attention-vms.ts';
