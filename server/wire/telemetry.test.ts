import { expect, test } from 'vitest';
import { eventsOf } from './telemetry.ts';

const post = (...events: string[]) =>
  `<?xml version="1.0"?><TelemetryData version="1.0"><Provider id="69B669B9">${events
    .map((event) => `<Event id="1"><![CDATA[${event}]]></Event>`)
    .join('')}</Provider></TelemetryData>`;

test('reads events from XML text inside an element, and drops only malformed events', () => {
  const param = (name: string, value: string) => `<Param Name="${name}" Value="${value}" T="mt:wstr" />`;
  const message = 'Command: bin/enable&#10;[stdout]&#10;a &lt;b&gt; &quot;c&quot;&#10;[stderr]&#10;';
  const good = param('Name', 'Acme.Lab.Probe') + param('Operation', 'Enable') + param('Message', message);
  const events = eventsOf(post(good, '<Param Name="Name" Value="x"', '', `${param('Name', 'y')}</Param>`));
  expect(events).toEqual([
    { name: 'Acme.Lab.Probe', operation: 'Enable', message: 'Command: bin/enable\n[stdout]\na <b> "c"\n[stderr]\n' },
    { name: '', operation: '', message: '' },
    { name: '', operation: '', message: '' },
    { name: 'y', operation: '', message: '' },
  ]);
  expect(eventsOf('<Event id="1">no text</Event>')).toEqual([]);
});

test('reads a request of unclosed events in linear time', () => {
  const began = performance.now();
  expect(eventsOf('<Event id="1"><![CDATA['.repeat(40_000))).toEqual([]);
  expect(performance.now() - began).toBeLessThan(2_000);
});
