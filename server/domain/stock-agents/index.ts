export { getWireAccess, type StockAgent, type WireAccess } from './get-wire-access.ts';
export { grantWireAccess } from './grant-wire-access.ts';
export { revokeWireAccess } from './revoke-wire-access.ts';
export { rotateTenantKey } from './rotate-tenant-key.ts';
