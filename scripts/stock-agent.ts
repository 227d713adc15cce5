import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { guestTokenOf } from '#agent/settings/tokens.ts';
import { missingForStockAgent } from '#e2e/stock-agent/requirements.ts';
import { StockMachine } from '#e2e/stock-agent/stock-machine.ts';
import { agentPackage, cacheFolder, suiteHere } from '#e2e/stock-agent/waagent-package.ts';
import { readFlags } from './read-flags.ts';

const usage = `usage: npm run stock-agent -- --vm ID [FLAGS]

Starts a throwaway machine with the stock Azure Linux agent and its forwarder, in separate namespaces. Prints the
agent's log and runs the commands that you type on that machine; "off" and "on" turn it off and on, and Ctrl-D ends it.
See docs/stock-agent.md.
  --vm ID              the machine's VM; prompts for its forwarder token, or reads ANNEX_GUEST_TOKEN or --guest-token-file
  --gateway URL        address of the gateway (http://127.0.0.1:3001)
  --guest-token-file F file with the forwarder token
  --name NAME          host name (stock-vm)
  --suite NAME         Debian release whose agent is used (this machine's release; sid for the newest)
  --set KEY=VALUE      a line of waagent.conf; can be repeated`;

const flags = readFlags(usage, {
  options: {
    vm: { type: 'string', default: '' },
    gateway: { type: 'string', default: 'http://127.0.0.1:3001' },
    'guest-token-file': { type: 'string' },
    name: { type: 'string', default: 'stock-vm' },
    suite: { type: 'string', default: await suiteHere() },
    set: { type: 'string', multiple: true, default: [] },
  },
});

const missing = missingForStockAgent();
if (flags.vm === '') missing.push('it needs --vm, the id of a VM');
if (missing.length > 0) {
  console.error(['The stock agent cannot run here:', ...missing.map((reason) => `  ${reason}.`)].join('\n'));
  process.exit(1);
}
const logs = path.resolve(cacheFolder, 'logs');
const token = await guestTokenOf({
  tokenFile: flags['guest-token-file'],
  variable: process.env.ANNEX_GUEST_TOKEN,
  input: process.stdin,
  output: process.stderr,
});
const agent = await agentPackage(cacheFolder, flags.suite);
const settings = Object.fromEntries(flags.set.map((line) => line.split(/=(.*)/s).slice(0, 2)));
const { vm: vmId, gateway: gatewayUrl, name } = flags;
const machine = await StockMachine.make({ name, agent, gatewayUrl, vmId, token, settings, logs });
console.log(`${name} with waagent ${agent.version} is on. Type a command to run it there, or press Ctrl-D to stop it.`);
await machine.start();
const following = spawn('tail', ['-n', '+1', `--pid=${process.pid}`, '-F', machine.file('/var/log/waagent.log')], {
  stdio: ['ignore', 'inherit', 'ignore'],
});
const reader = createInterface({ input: process.stdin });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => reader.close());
try {
  for await (const line of reader) {
    if (line === 'off') await machine.stop();
    else if (line === 'on') await machine.start();
    else if (line.trim() !== '') console.log((await machine.run('sh', '-c', `${line} 2>&1 || true`)).trimEnd());
  }
} finally {
  following.kill();
  await machine.remove();
  console.log(`${name} was removed; its logs are in ${logs}.`);
}
process.exit();
