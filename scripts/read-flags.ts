import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Parses a script's flags. For `--help`, prints the usage and exits with 0; for invalid flags, exits with 2. */
export function readFlags<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>>['values'] {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : 'wrong flags'}\n\n${usage}`);
    process.exit(2);
  }
}
