import { afterAll, beforeAll, test } from 'vitest';
import { fieldHandlers } from '#samples/field/behaviours.ts';
import { publishField, takeFieldStep } from './field.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vm: Actor;
beforeAll(async () => {
  stage = await Stage.open();
  vm = await stage.enter('stock-field');
});
afterAll(async () => {
  await stage?.close();
});

for (const field of fieldHandlers) {
  test(`a handler like ${field.like} works: ${field.reliesOn}`, async () => {
    await publishField(stage.api, field);
    for (const step of field.steps) await takeFieldStep(stage.api, vm, field.handler, step);
  });
}
