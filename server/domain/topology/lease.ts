/** Seconds within which a request calls the provider. If it takes longer, the repair continues or undoes the request. */
const leaseSeconds = 60;

/** Returns the time until which a request may create a number of instances. */
export const leaseOf = (now: Date, instances = 1): Date => new Date(now.getTime() + instances * leaseSeconds * 1_000);
