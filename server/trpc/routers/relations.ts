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
import { type FailingUnitsInput, listFailingUnits } from '#server/domain/views/index.ts';
import { type CallContext, mutation, pagedQuery, query, router } from '../trpc.ts';

/** Pages name the id of a relation, because changes of the relation reload the queries about it. */
const withId =
  <Input extends object, Output>(verb: (ctx: CallContext, input: Input) => Promise<Output>) =>
  (ctx: CallContext, { id: _, ...input }: Input & { id?: string }) =>
    verb(ctx, input as unknown as Input);

const failingForReader = (ctx: CallContext, input: FailingUnitsInput) =>
  listFailingUnits(ctx, { ...input, ...ctx.reader });

export const relationsRouter = router({
  add: mutation(addRelation),
  events: pagedQuery(withId(listRelationEvents)),
  failing: query(withId(failingForReader)),
  get: query(withId(getRelation)),
  list: query(listRelations),
  nodes: query(withId(listNodes)),
  readers: query(withId(listSeen)),
  remove: mutation(removeRelation),
  reveal: mutation(revealNode),
  settings: query(withId(getRelationSettings)),
});
