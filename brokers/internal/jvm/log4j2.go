package jvm

// Log4j2 is a configuration of log4j 2 that writes to standard output only, from level INFO.
const Log4j2 = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
`
