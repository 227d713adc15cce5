import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { testDatabase } from '#db/testing/database.ts';
import { hasText } from './has-text.ts';
import { templateOf } from './message.ts';

test('the database considers a template blank exactly when the portal does', async () => {
  const db = await testDatabase();
  const characters = Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code)).slice(1);
  const texts = ['', 'a', ' \u00a0\ufeff\n', ' a\u00a0', ...characters, '\ufeff', '\ufffd', '🙂'];
  const { rows } = await db.execute<{ text: string }>(sql`
    select t.text from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) t(text) where not ${hasText(sql`t.text`)}`);
  const blank = texts.filter((text) => templateOf({ a: text }, 'a') === undefined);
  expect(new Set(rows.map(({ text }) => text))).toEqual(new Set(blank));
  expect(blank.length).toBeGreaterThan(20);
});
