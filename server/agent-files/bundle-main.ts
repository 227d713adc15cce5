import { bundleAgent } from './bundle-agent.ts';

// Bundles the guest agent into the file that the argument names. agent-files.ts runs this as a separate process, so
// that the bundler neither delays requests nor sees secrets.
const file = process.argv[2];
if (file === undefined) throw new Error('usage: node bundle-main.ts FILE');
await bundleAgent(file);
