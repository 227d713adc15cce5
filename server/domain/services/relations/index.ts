export { type Flushed, type FlushInput, flush } from './flush.ts';
export {
  type CausingRun,
  confirmRelationHooks,
  type DoneHook,
  enterRelations,
  forgetParticipants,
  leaveRelations,
  relationsOf,
} from './participants.ts';
export { endRelationsOf, setPeerRelations } from './service-relations.ts';
export { unitsChannel } from './wake.ts';
