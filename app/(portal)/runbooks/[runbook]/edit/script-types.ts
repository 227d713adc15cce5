/**
 * The types of scripts that agents may be able to run, the same as `platformNames` in the protocol, whose module is too
 * large to import here.
 */
export const scriptTypes = ['Bash', 'Application', 'Python', 'PowerShell', 'Puppet', 'Chef', 'SaltStack'] as const;
