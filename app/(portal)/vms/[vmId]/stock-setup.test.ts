import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { forwarderUnit, stockAgentSetup, tokenFile } from './stock-setup.ts';

const guide = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/stock-agent.md'), 'utf8');

test('the dialog shows the unit and the commands of docs/stock-agent.md', () => {
  const unit = forwarderUnit({
    gatewayUrl: 'https://annex.example.net:3001',
    vmId: '01920000-0000-7000-8000-000000000001',
  });
  expect(guide).toContain(`\`\`\`ini\n${unit}\`\`\``);
  expect(guide).toContain(`\`\`\`sh\n${stockAgentSetup}\`\`\``);
  expect(unit).toContain(tokenFile);
});
