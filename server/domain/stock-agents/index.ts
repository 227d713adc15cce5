export { getWireAccess, type StockAgent, type WireAccess } from './get-wire-access.ts';
export { grantWireAccess } from './grant-wire-access.ts';
export { handOutGoalState, type StockAgentNews, type StockGoalState } from './hand-out-goal-state.ts';
export { noteStockAgent } from './note-stock-agent.ts';
export { revokeWireAccess } from './revoke-wire-access.ts';
export { rotateTenantKey } from './rotate-tenant-key.ts';
export { inFourParts, type StockExtension } from './stock-goal-state.ts';
export { wireTokenHash } from './wire-token.ts';
export { wrapTenantKey } from './wrap-tenant-key.ts';
