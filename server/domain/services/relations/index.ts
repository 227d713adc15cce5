export { addRelation, addRelationIn } from './add-relation.ts';
export { clearRelationEvents } from './clear-events.ts';
export { flush } from './flush.ts';
export { listRelationEvents, relationEvents } from './list-events.ts';
export { listSeen, nodeReaders } from './list-seen.ts';
export { relationsOf } from './members.ts';
export { relationNodes, relationSettings, revealedNode } from './node-shapes.ts';
export { getRelationSettings, listNodes, revealNode } from './node-view.ts';
export { confirmRelationHooks, enterRelations, forgetParticipants, leaveRelations } from './participants.ts';
export { raiseHeads } from './raise-heads.ts';
export { readNode } from './read-node.ts';
export {
  getRelation,
  getRelation,
  isMemberSql,
  listRelations,
  listRelations,
  relation,
  relation,
} from './relation-view.ts';
export { removeRelation, removeRelation, removeRelationIn } from './remove-relation.ts';
export { resealRelations } from './reseal-relations.ts';
export { endRelationsOf, setPeerRelations } from './service-relations.ts';
export { unitsChannel } from './wake.ts';
