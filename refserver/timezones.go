package refserver

// timezones are the values of the specification's campaign timezone list, sorted.
var timezones = []string{
	"Africa/Abidjan", "Africa/Addis_Ababa", "Africa/Algiers", "Africa/Blantyre", "Africa/Cairo", "Africa/Casablanca",
	"Africa/Ceuta", "Africa/Tripoli", "Africa/Windhoek", "America/Anchorage", "America/Anguilla",
	"America/Araguaina", "America/Argentina/La_Rioja", "America/Asuncion", "America/Bahia", "America/Bahia_Banderas",
	"America/Belize", "America/Bogota", "America/Boise", "America/Campo_Grande", "America/Caracas",
	"America/Chicago", "America/Chihuahua", "America/Creston", "America/Danmarkshavn", "America/Dawson",
	"America/Detroit", "America/Glace_Bay", "America/Godthab", "America/Indiana/Marengo", "America/Montevideo",
	"America/Noronha", "America/Regina", "America/Santiago", "America/Sao_Paulo", "America/Scoresbysund",
	"America/St_Johns", "Antarctica/Davis", "Antarctica/DumontDUrville", "Antarctica/Macquarie", "Antarctica/Mawson",
	"Antarctica/Vostok", "Arctic/Longyearbyen", "Asia/Aden", "Asia/Amman", "Asia/Anadyr", "Asia/Baghdad",
	"Asia/Baku", "Asia/Beirut", "Asia/Brunei", "Asia/Chita", "Asia/Choibalsan", "Asia/Colombo", "Asia/Damascus",
	"Asia/Dhaka", "Asia/Dili", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Irkutsk", "Asia/Jerusalem", "Asia/Kabul",
	"Asia/Kamchatka", "Asia/Karachi", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Krasnoyarsk", "Asia/Nicosia",
	"Asia/Novokuznetsk", "Asia/Pyongyang", "Asia/Rangoon", "Asia/Sakhalin", "Asia/Taipei", "Asia/Tbilisi",
	"Asia/Tehran", "Asia/Yekaterinburg", "Asia/Yerevan", "Atlantic/Canary", "Atlantic/Cape_Verde",
	"Australia/Adelaide", "Australia/Brisbane", "Australia/Currie", "Australia/Darwin", "Australia/Melbourne",
	"Australia/Perth", "Etc/GMT+10", "Etc/GMT+11", "Etc/GMT+12", "Etc/GMT-12", "Etc/GMT-13", "Europe/Astrakhan",
	"Europe/Belgrade", "Europe/Bucharest", "Europe/Helsinki", "Europe/Isle_of_Man", "Europe/Istanbul",
	"Europe/Kaliningrad", "Europe/Kirov", "Europe/Sarajevo", "Indian/Mahe", "Pacific/Apia", "Pacific/Auckland",
	"Pacific/Fiji",
}
