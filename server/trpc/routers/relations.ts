import {
  addRelation,
  getRelation,
  getRelationSettings,
  listNodes,
  listRelationEvents,
  listRelations,
  listSeen,
  removeRelation,
  revealNode,
} from '#server/domain/services/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const relationsRouter = router({
  add: mutation(addRelation),
  events: query(listRelationEvents),
  get: query(getRelation),
  list: query(listRelations),
  nodes: query(listNodes),
  readers: query(listSeen),
  remove: mutation(removeRelation),
  reveal: mutation(revealNode),
  settings: query(getRelationSettings),
});
