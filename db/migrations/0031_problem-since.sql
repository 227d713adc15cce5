ALTER TABLE "extension_health" ADD COLUMN "problem" text;--> statement-breakpoint
ALTER TABLE "extension_health" ADD COLUMN "problem_since" timestamp with time zone;