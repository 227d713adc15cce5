import path from 'node:path';
import { domainFaults } from './domain-state.ts';

const faults = domainFaults(path.resolve(import.meta.dirname, '..'));
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
